// The server that Schemathesis tests, and the two identities that it calls as.
import { type SettingsInput, startServer, type TestServer } from '../clients/server.ts'
import { SERVER_KEY, securedSettings, userToken } from '../http/tokens.ts'

/** As many sessions as there are device ids in a run, so that heartbeats are answered; and a history. */
const SETTINGS: SettingsInput = { ...securedSettings, sessions_per_user: 1000, history_days: 30 }

export const startTestedServer = (): Promise<TestServer> => startServer(SETTINGS)

export interface Identity {
  token(): string
  /** The group of operations that are refused to it, whatever is asked. */
  refusedGroup: string
}

export const IDENTITIES: Record<string, Identity> = {
  'a server key': { token: () => SERVER_KEY, refusedGroup: 'For users' },
  'a token of a user': { token: () => userToken('alice'), refusedGroup: 'For backends' },
}
