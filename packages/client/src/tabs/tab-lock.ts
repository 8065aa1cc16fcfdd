// Detects closed and crashed tabs: a tab holds a lock with its own name while it lives, and a waiter for that
// lock gets it when the tab is gone.

/** Holds a lock until the returned function is called. */
export function holdLock(locks: LockManager, name: string, onHeld: () => void): () => void {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  void locks.request(name, () => {
    onHeld()
    return released
  })
  return release
}
