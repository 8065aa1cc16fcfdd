// The .proto files, embedded as text and parsed when the port is opened, so the packed script and the single-file
// executable need no file beside them and nothing generated is kept in the tree.
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import { fromJSON } from '@grpc/proto-loader'
import { type INamespace, Namespace, parse, type ReflectionObject, Root, Service } from 'protobufjs'
import presenceText from '../../../protocol/proto/greendot/v1/presence.proto' with { type: 'text' }
import { type Message, UNDECODABLE } from './call.ts'
import { describeFile } from './descriptor.ts'
import descriptorText from './proto/descriptor.proto' with { type: 'text' }
import errorDetailsText from './proto/error-details.proto' with { type: 'text' }
import healthText from './proto/health.proto' with { type: 'text' }
import reflectionText from './proto/reflection.proto' with { type: 'text' }

const OPTIONS = { keepCase: true, longs: Number, enums: String, defaults: true, arrays: true, oneofs: true }

/** A parsed file. */
export interface ProtoFile {
  name: string
  /** Names of everything that is declared in it. */
  symbols: ReadonlySet<string>
  services: readonly string[]
  /** For reflection. */
  descriptor: Buffer
  /** How calls of one of its services are read and written. */
  service(name: string): ServiceDefinition
}

function parsed(text: string): Root {
  const { root } = parse(text, new Root(), { keepCase: true })
  return root.resolveAll() as Root
}

function protoFile(name: string, text: string): ProtoFile {
  const parsing = parse(text, new Root(), { keepCase: true })
  const root = parsing.root.resolveAll() as Root
  const describe = writerFor(descriptorText)
  const definition = fromJSON(root.toJSON() as INamespace, OPTIONS)
  const symbols = [...symbolsIn(root)]
  return {
    name,
    symbols: new Set(symbols.map(nameOf)),
    services: symbols.filter((symbol) => symbol instanceof Service).map(nameOf),
    descriptor: describe('File', describeFile(root, name, parsing.package!)),
    service: (service) => strict(definition[service] as ServiceDefinition),
  }
}

const nameOf = ({ fullName }: ReflectionObject) => fullName.slice(1)

function* symbolsIn(namespace: Namespace): Generator<ReflectionObject> {
  for (const object of namespace.nestedArray) {
    yield object
    if (object instanceof Namespace) yield* symbolsIn(object)
    if (object instanceof Service) yield* object.methodsArray
  }
}

/** Writes a message of a type that is declared in one of these texts. */
type Writer = (type: string, message: object) => Buffer

function writerFor(text: string): Writer {
  const root = parsed(text)
  return (type, message) => {
    const written = root.lookupType(type)
    return Buffer.from(written.encode(written.fromObject(message)).finish())
  }
}

/** Requests that cannot be decoded are marked: the library would answer them as errors of this server. */
function strict(service: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service).map(([name, method]): [string, MethodDefinition<unknown, unknown>] => [
      name,
      { ...method, requestDeserialize: (bytes) => decoded(bytes, method) },
    ]),
  )
}

/** The library gives text that is not UTF-8 replacement characters, and would so turn invalid ids into valid ones. */
const REPLACEMENT = '\ufffd'
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT)

function decoded(bytes: Buffer, method: MethodDefinition<unknown, unknown>): Message {
  try {
    const message = method.requestDeserialize(bytes) as Message
    const shown = JSON.stringify(message).split(REPLACEMENT).length - 1
    return shown <= occurrences(bytes, REPLACEMENT_BYTES) ? message : UNDECODABLE
  } catch {
    return UNDECODABLE
  }
}

function occurrences(bytes: Buffer, searched: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(searched); at !== -1; at = bytes.indexOf(searched, at + searched.length))
    count++
  return count
}

/** The files of this server, by what they are for. Parsing takes a moment, so it is done once for a server. */
export function loadProtoFiles() {
  return {
    presence: protoFile('greendot/v1/presence.proto', presenceText),
    health: protoFile('grpc/health/v1/health.proto', healthText),
    reflection: protoFile('grpc/reflection/v1/reflection.proto', reflectionText),
    reflectionAlpha: protoFile(
      'grpc/reflection/v1alpha/reflection.proto',
      reflectionText.replace('package grpc.reflection.v1;', 'package grpc.reflection.v1alpha;'),
    ),
  }
}

/** Writes one of the messages that carry details of errors. */
export const createDetailWriter = (): Writer => writerFor(errorDetailsText)
