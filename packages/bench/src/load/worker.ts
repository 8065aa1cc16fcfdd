// The inside of a child process: takes orders and answers each. It ends with its parent, and leaves
// Ctrl-C, which reaches the whole group, to the parent.

export type Handle = (order: never) => unknown

export function takeOrders(handle: Handle): Promise<never> {
  process.on('SIGINT', () => {})
  process.on('disconnect', () => process.exit(0))
  process.on('message', async ({ id, order }: { id: number; order: never }) => {
    try {
      process.send?.({ id, answer: (await handle(order)) ?? null })
    } catch (error) {
      process.send?.({ id, problem: error instanceof Error ? error.message : String(error) })
    }
  })
  return new Promise(() => {})
}
