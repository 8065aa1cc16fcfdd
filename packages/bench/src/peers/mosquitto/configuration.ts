// What Mosquitto runs with: one listener, passwords, and nothing that presence does not need. A password is the
// token of the user, kept as a salted SHA-512, the cheapest form that Mosquitto reads.
import { createHash } from 'node:crypto'

export function configuration(port: number, passwordPath: string): string {
  return `listener ${port} 127.0.0.1
max_connections -1
# Started by root, it would change to a user that may not read the files of this folder. Ignored otherwise.
user root

allow_anonymous false
password_file ${passwordPath}

# Small messages must not wait for the acknowledgement of the one before.
set_tcp_nodelay true
persistence false
sys_interval 0

log_dest stderr
log_type error
log_type warning
connection_messages false
`
}

/** The salt has 12 bytes, which is what Mosquitto expects. */
export function passwordLine(name: string, password: string, salt: Uint8Array): string {
  const hash = createHash('sha512').update(password).update(salt).digest('base64')
  return `${name}:$6$${Buffer.from(salt).toString('base64')}$${hash}\n`
}
