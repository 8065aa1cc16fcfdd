// Wires the parts that every runtime uses. What only pages use is in tabs/in-page.ts.
import { FOREVER } from './activity/device-activity.ts'
import { dialsOf } from './connection/dial.ts'
import { createHub } from './connection/hub.ts'
import { soloUplink } from './connection/solo-uplink.ts'
import type { Address } from './connection/transport.ts'
import { createDot } from './dot/dot.ts'
import { ambientRuntime, type Runtime, type Timer } from './platform.ts'
import type { ConnectOptions, Dot, SettingsAnswer, SettingsChange } from './types.ts'

/** Starts to connect at once and reconnects until `close`. */
export const connect = (options: ConnectOptions): Dot => connectWith(ambientRuntime(), options)

export function connectWith(ambient: Runtime, options: ConnectOptions): Dot {
  const runtime = options.WebSocket ? { ...ambient, WebSocket: options.WebSocket } : ambient
  const { window } = runtime
  const token = async () => (typeof options.token === 'string' ? options.token : options.token())
  const address: Address = {
    url: String(options.url).replace(/^ws/, 'http').replace(/\/+$/, ''),
    deviceId: options.deviceId ?? runtime.newName(),
    platform: options.platform ?? (window ? 'web' : 'other'),
  }
  const newHub = (
    at: Address,
    pulse: (intervalMs: number, run: () => void) => Timer,
    token: () => Promise<string>,
  ) => createHub({ runtime, ...dialsOf(runtime, at, options.transport), pulse, token })
  const activeAt = window ? (window.document.hidden ? 0 : runtime.now()) : FOREVER
  const settingsParts = { runtime, url: address.url, token }
  const callSettings = async (change?: SettingsChange): Promise<SettingsAnswer> =>
    (await import('./settings/settings.ts')).callSettings(settingsParts, change)
  const dot = createDot({ runtime, activeAt, callSettings })
  const goAlone = () => dot.resume(soloUplink(() => newHub(address, runtime.every, token)))
  if (window) {
    const parts = { runtime, window, options, address, dot, token, newHub, soloUplink }
    // If the module cannot be loaded, the page still works, without shared tabs and activity detection.
    import('./tabs/in-page.ts').then(({ attachToPage }) => attachToPage(parts)).catch(goAlone)
  } else goAlone()
  return dot
}
