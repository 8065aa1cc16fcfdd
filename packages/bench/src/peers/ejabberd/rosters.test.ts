import { expect, test } from 'bun:test'
import { rosterEdges } from './rosters.ts'

const KINDS = ['', 'to', 'from', 'both']

function read(bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / 9 }, (_, row) => {
    const at = row * 9
    return `${bytes.readUInt32BE(at)} ${bytes.readUInt32BE(at + 4)} ${KINDS[bytes[at + 8]!]}`
  }).sort()
}

test('[X7] a subscription is in both rosters, once, with its direction', () => {
  const contacts = [[1, 2], [0], []]
  expect(read(rosterEdges(contacts))).toEqual(['0 1 both', '0 2 to', '1 0 both', '2 0 from'])
})
