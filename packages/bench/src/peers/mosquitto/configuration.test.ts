import { expect, test } from 'bun:test'
import { passwordLine } from './configuration.ts'

test('[X7] a password is written as mosquitto_passwd writes it', () => {
  // Written by `mosquitto_passwd -H sha512 -b passwords user-7 a.b.c` of version 2.0.11.
  const salt = '/rgO1uL23Of0N8Z9'
  const hash = 'GKfBSJ56uoTXiXrviquXp+mGkg2OVnSplWBDvjh2TdNOrdvdO/UYIeYgX4kg7fGgYk9h2IDt/lpddMQ/CY5aoQ=='
  expect(passwordLine('user-7', 'a.b.c', Buffer.from(salt, 'base64'))).toBe(`user-7:$6$${salt}$${hash}\n`)
})
