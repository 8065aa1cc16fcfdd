// A gRPC client for tests, with the messages of the generated code. Requests and answers are JSON with the field names
// of the .proto; failures are read from the details that every client of gRPC can read.
import { type DescMethod, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import {
  type ClientDuplexStream,
  credentials,
  Client as GrpcClient,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { createLookout } from '../clients/lookout.ts'
import { WAIT_MS } from '../services/within.ts'
import { generatedService } from './generated.ts'

const service = await generatedService()

export type Json = JsonObject

/** How a call ended. */
export interface Ended {
  /** The name of the status. */
  status: string
  message: string
  /** Our own code. */
  reason: string | null
  retrySeconds: number | null
}

export class CallFailed extends Error {
  readonly ended: Ended
  constructor(ended: Ended) {
    super(`${ended.status}: ${ended.message}`)
    this.ended = ended
  }
}

/** A call with a stream, in one direction or both. */
export interface OpenCall {
  send(request: Json): void
  /** No more requests. */
  finish(): void
  cancel(): void
  /** Everything that came. */
  heard: Json[]
  /** Resolves with the first answer that fits, now or later; rejects when the call ends before. */
  next(fits: (answer: Json) => boolean): Promise<Json>
  ended: Promise<Ended>
  /** Reads nothing until `resume`. */
  pause(): void
  resume(): void
}

export interface TestClient {
  call(method: string, request: Json): Promise<Json>
  /** The same with bytes of its own. */
  callRaw(method: string, bytes: Uint8Array): Promise<Json>
  open(method: string, request?: Json, options?: { deadline?: number }): OpenCall
  close(): void
}

function methodOf(name: string): DescMethod {
  const method = service.methods.find((one) => one.name === name)
  if (method === undefined) throw new Error(`no method ${name}`)
  return method
}

const pathOf = ({ name }: DescMethod) => `/${service.typeName}/${name}`
const encode = ({ input }: DescMethod, request: Json) =>
  Buffer.from(toBinary(input, fromJson(input, request)))
const decode = ({ output }: DescMethod, bytes: Buffer): Json =>
  toJson(output, fromBinary(output, bytes), { useProtoFieldName: true }) as Json
const raw = (bytes: Buffer) => bytes

export function connectGrpc(address: string, token: string | null): TestClient {
  const client = new GrpcClient(address, credentials.createInsecure(), {
    // Each test client has a connection of its own.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
  })
  const metadata = new Metadata()
  if (token !== null) metadata.set('authorization', `Bearer ${token}`)

  function callRaw(name: string, bytes: Uint8Array): Promise<Json> {
    const method = methodOf(name)
    const { promise, resolve, reject } = Promise.withResolvers<Json>()
    client.makeUnaryRequest(pathOf(method), raw, raw, Buffer.from(bytes), metadata, (error, answer) => {
      if (error !== null) reject(new CallFailed(endedBy(error)))
      else resolve(decode(method, answer!))
    })
    return promise
  }

  return {
    callRaw,
    call: (name, request) => callRaw(name, encode(methodOf(name), request)),
    open(name, request, options = {}) {
      const method = methodOf(name)
      const path = pathOf(method)
      if (method.methodKind === 'client_streaming') {
        const { promise, resolve } = Promise.withResolvers<Ended>()
        const heard: Json[] = []
        const call = client.makeClientStreamRequest(path, raw, raw, metadata, options, (error, answer) => {
          if (error === null) heard.push(decode(method, answer!))
          resolve(error === null ? OK : endedBy(error))
        })
        return openCall(method, call as never, heard, promise)
      }
      const call =
        method.methodKind === 'server_streaming'
          ? client.makeServerStreamRequest(path, raw, raw, encode(method, request ?? {}), metadata, options)
          : client.makeBidiStreamRequest(path, raw, raw, metadata, options)
      const opened = openCall(method, call as ClientDuplexStream<Buffer, Buffer>, [], null)
      if (method.methodKind === 'bidi_streaming' && request !== undefined) opened.send(request)
      return opened
    },
    close: () => client.close(),
  }
}

function openCall(
  method: DescMethod,
  call: ClientDuplexStream<Buffer, Buffer>,
  heard: Json[],
  answered: Promise<Ended> | null,
): OpenCall {
  const lookout = createLookout()
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const ended = answered ?? promise
  let end: Ended | null = null
  void ended.then((how) => {
    end = how
    lookout.notify()
  })
  if (answered === null) {
    call.on('data', (bytes: Buffer) => {
      heard.push(decode(method, bytes))
      lookout.notify()
    })
    call.on('end', () => resolve(OK))
  }
  call.on('error', (error: ServiceError) => resolve(endedBy(error)))
  return {
    heard,
    ended,
    send: (request) => void call.write(encode(method, request)),
    finish: () => call.end(),
    cancel: () => call.cancel(),
    pause: () => void call.pause(),
    resume: () => void call.resume(),
    next: (fits) =>
      lookout.until(
        WAIT_MS,
        () => heard.find(fits),
        () => `waited ${WAIT_MS} ms for an answer of ${method.name}; heard ${JSON.stringify(heard)}`,
        () => (end === null ? null : new CallFailed(end)),
      ),
  }
}

const OK: Ended = { status: 'OK', message: '', reason: null, retrySeconds: null }

function endedBy(error: ServiceError): Ended {
  const details = error.metadata?.get('grpc-status-details-bin')[0]
  return { status: status[error.code]!, message: error.details, ...detailsIn(details as Buffer | undefined) }
}

/** Read field by field, by the field numbers of google.rpc.Status, ErrorInfo and RetryInfo. */
function detailsIn(bytes: Buffer | undefined): Pick<Ended, 'reason' | 'retrySeconds'> {
  const found: Pick<Ended, 'reason' | 'retrySeconds'> = { reason: null, retrySeconds: null }
  for (const detail of bytes === undefined ? [] : fieldsOf(bytes).filter(({ number }) => number === 3)) {
    const [type, value] = [1, 2].map((wanted) =>
      fieldsOf(detail.bytes).find(({ number }) => number === wanted),
    )
    const first = fieldsOf(value!.bytes)[0]!
    const name = type!.bytes.toString()
    if (name === 'type.googleapis.com/google.rpc.ErrorInfo') found.reason = first.bytes.toString()
    if (name === 'type.googleapis.com/google.rpc.RetryInfo')
      found.retrySeconds = fieldsOf(first.bytes)[0]!.value
  }
  return found
}

/** Numbers below 128 and byte strings, which is all that these messages have. */
function fieldsOf(bytes: Buffer): { number: number; value: number; bytes: Buffer }[] {
  const fields: { number: number; value: number; bytes: Buffer }[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at++]!
    let value = 0
    for (let shift = 0, more = true; more; shift += 7) {
      const byte = bytes[at++]!
      value += (byte & 127) << shift
      more = byte > 127
    }
    const isBytes = (tag & 7) === 2
    fields.push({ number: tag >> 3, value, bytes: bytes.subarray(at, isBytes ? at + value : at) })
    if (isBytes) at += value
  }
  return fields
}
