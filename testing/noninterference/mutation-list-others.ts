// The checks that keep anybody from waiting for what somebody hidden does, and from being quicker for it:
// what is read on the side, whom a look waits for, and what a look leaves behind.
import { type Mutation, mutation, rare } from './mutation.ts'

const waiting: readonly Mutation[] = [
  mutation(
    'a batch waits for those in it who are read',
    'presence/tracker.ts',
    'room.admit(unread)\n',
    'room.admit(unread)\n      if (unread.size > 0) await recall.orAfresh([...unread.keys()])\n',
  ),
  rare(
    mutation(
      'what comes while somebody is read is ready when they are',
      'presence/waiting-room.ts',
      '(seated!.length >= WORKS_PER_PERSON_MAX || group.get(userId) === last)',
      'true',
    ),
  ),
  rare(
    mutation(
      'what is chosen for those who are hot is not read for first',
      'presence/tracker.ts',
      "return stored.record.shown.status === 'offline' && events.some(({ type }) => SHOWN_WHILE_AWAY.has(type))",
      'return false',
    ),
  ),
  mutation(
    'a watch does not wait for the batch of its turn',
    'gateway/watches.ts',
    '        await settle()\n',
    '',
  ),
  mutation(
    'a look waits for the batch, but not until it is told',
    'presence/tracker.ts',
    'resolve: resolveSoon })',
    'resolve })',
  ),
  mutation(
    'a look waits for those who are read',
    'presence/tracker.ts',
    'return one.afterBatch <= batchesTaken\n',
    'return one.afterBatch <= batchesTaken && room.size() === 0\n',
  ),
  mutation(
    'a look does not wait where nobody does anything',
    'presence/tracker.ts',
    '    settle() {\n',
    '    settle() {\n      if (depth() + underWay.size === 0) return Promise.resolve()\n',
  ),
]

const looking: readonly Mutation[] = [
  mutation(
    'looks of those who hide are remembered for all',
    'presence/reader.ts',
    '!isOpenToAll(privacy, rules) || (viewer !== null && isInvisible(viewer, clock.now()))',
    'viewer !== null && isInvisible(viewer, clock.now())',
  ),
  rare(
    mutation(
      'looks of the invisible are remembered for all',
      'presence/reader.ts',
      '!isOpenToAll(privacy, rules) || (viewer !== null && isInvisible(viewer, clock.now()))',
      '!isOpenToAll(privacy, rules)',
    ),
  ),
  rare(
    mutation(
      'looks of those who chose to hide before a restart are remembered for all',
      'presence/reader.ts',
      'hot ?? (await readBy(store.load, [viewerId], ownLooks)).records[0] ?? null',
      'hot',
    ),
  ),
  rare(
    mutation(
      'looks of those who hide keep people hot',
      'presence/reader.ts',
      'else if (recent !== unnoticed || dueAt !== null) {',
      'else {',
    ),
  ),
  mutation(
    'a watch of those who hide spares others the reading',
    'gateway/openness.ts',
    'isOpenToAll(discretions.of(user).privacy, rules) && isOpenlyHere(user)',
    'isOpenlyHere(user)',
  ),
  rare(
    mutation(
      'a watch of the invisible spares others the reading',
      'gateway/own-views.ts',
      '!invisible.has(user) && isWelcomed(user)',
      'isWelcomed(user)',
    ),
  ),
  rare(
    mutation(
      'a watch of the invisible who only have a stream spares others the reading',
      'gateway/own-views.ts',
      '!invisible.has(user) && isWelcomed(user)',
      '!invisible.has(user)',
    ),
  ),
  rare(
    mutation(
      'whoever was invisible when they came is openly here',
      'gateway/own-views.ts',
      'noteVisibility(user, revision, isInvisible)\n',
      '',
    ),
  ),
  rare(
    mutation(
      'whoever became invisible is openly here',
      'gateway/own-views.ts',
      `noteVisibility(user, revision, json.includes('"availability":"invisible"'))`,
      '',
    ),
  ),
]

const counting: readonly Mutation[] = [
  mutation(
    'those who hide are in one crowd with all others',
    'gateway/watches.ts',
    'index.add(connection, target, !openness.isOpen(sights.viewerOf(connection)))',
    'index.add(connection, target, false)',
  ),
  rare(
    mutation(
      'every version of nothing is news',
      'gateway/target-table.ts',
      'if (jsons[target] === json) return false',
      '',
    ),
  ),
  rare(
    mutation(
      'a look in the turn in which they hide is remembered for all',
      'presence/reader.ts',
      'if (isPending(viewerId)) return true',
      '',
    ),
  ),
  rare(
    mutation(
      'whoever hides while they watch goes on counting',
      'gateway/sights.ts',
      'openness.review(user)\n',
      '',
    ),
  ),
  rare(
    mutation(
      'whoever becomes invisible while they watch goes on counting',
      'gateway/own-views.ts',
      'else invisible.delete(user)\n    onOpenness(user)',
      'else invisible.delete(user)',
    ),
  ),
]

export const OTHERS: readonly Mutation[] = [...waiting, ...looking, ...counting]
