// A tab that is gone is noticed by a lock: it holds one by its own name for as long as it lives, and whoever
// waits for that lock gets it the moment the tab was closed, or crashed.

/** Holds a lock until the returned function is called; `onHeld` when it is granted. */
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
