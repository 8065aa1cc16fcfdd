// The close codes that the client knows by number, compared with the registry of the protocol.
import { expect, test } from 'bun:test'
import { CLOSE } from '@greendot/protocol'
import { CLOSE_REASONS } from './socket.ts'

test('[X3] close codes are those of the protocol', () => {
  expect(CLOSE_REASONS).toEqual({
    [CLOSE.left]: 'left',
    [CLOSE.badToken]: 'refused',
    [CLOSE.disconnected]: 'disconnected',
    [CLOSE.noHeartbeat]: 'silent',
    [CLOSE.tooManyFrames]: 'too_often',
  })
})
