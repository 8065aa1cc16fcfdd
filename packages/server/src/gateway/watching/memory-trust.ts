// Whether what this gateway knows of its targets is up to date. Pushes keep it so, until the subscription breaks. Then
// a new watcher must not be shown it: the target may have changed, or may have become hidden. Those who watch already
// have been shown it, and are told what was missed once all targets are read again.

export interface MemoryTrust {
  isTrusted(): boolean
  /** Messages may be missing. */
  lose(): void
  /** How often trust was lost: taken before targets are read again. */
  losses(): number
  /** All targets were read again since then. */
  regain(losses: number): void
}

export function createMemoryTrust(): MemoryTrust {
  let losses = 0
  let isTrusted = true
  return {
    isTrusted: () => isTrusted,
    lose() {
      losses++
      isTrusted = false
    },
    losses: () => losses,
    regain(before) {
      if (losses === before) isTrusted = true
    },
  }
}
