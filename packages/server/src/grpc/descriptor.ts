// The descriptor of a parsed .proto file, for reflection. The parser can make one, but without optional fields, with
// relative names and with map entries under a wrong name, which tools refuse. A test compares this one with that of buf.
import { Enum, type Field, MapField, type Namespace, type OneOf, type Root, Service, Type } from 'protobufjs'

const OPTIONAL = 1
const REPEATED = 3
const MESSAGE = 11
const ENUM = 14
const SCALARS: Readonly<Record<string, number>> = { int64: 3, int32: 5, bool: 8, string: 9, bytes: 12 }

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

function capitalised(name: string): string {
  const camel = camelCase(name)
  return camel.charAt(0).toUpperCase() + camel.slice(1)
}

export function describeFile(root: Root, name: string, packageName: string): object {
  const namespace = root.lookup(packageName) as Namespace
  const own = namespace.nestedArray
  return {
    name,
    package: packageName,
    message_type: own.filter((one) => one instanceof Type).map(describeType),
    enum_type: own.filter((one) => one instanceof Enum).map(describeEnum),
    service: own.filter((one) => one instanceof Service).map(describeService),
    syntax: 'proto3',
  }
}

function describeType(type: Type): object {
  // A field that may be absent is the only one of a oneof that is not written; these come last.
  const isWritten = ({ fieldsArray }: OneOf) => !fieldsArray.some(isOptional)
  const oneofs = [
    ...type.oneofsArray.filter(isWritten),
    ...type.oneofsArray.filter((oneof) => !isWritten(oneof)),
  ]
  return {
    name: type.name,
    field: type.fieldsArray.map((field) => describeField(field, oneofs)),
    nested_type: [
      ...type.nestedArray.filter((one) => one instanceof Type).map(describeType),
      ...type.fieldsArray.filter((field) => field instanceof MapField).map(describeEntry),
    ],
    enum_type: type.nestedArray.filter((one) => one instanceof Enum).map(describeEnum),
    oneof_decl: oneofs.map((oneof) => ({ name: oneof.name })),
  }
}

const isOptional = ({ options }: Field): boolean => options?.proto3_optional === true

function describeField(field: Field, oneofs: readonly OneOf[]): object {
  const isMap = field instanceof MapField
  return {
    name: field.name,
    number: field.id,
    label: field.repeated || isMap ? REPEATED : OPTIONAL,
    ...(isMap
      ? { type: MESSAGE, type_name: `${field.parent!.fullName}.${capitalised(field.name)}Entry` }
      : typeOf(field)),
    ...(field.partOf === null ? {} : { oneof_index: oneofs.indexOf(field.partOf) }),
    json_name: camelCase(field.name),
    ...(isOptional(field) ? { proto3_optional: true } : {}),
  }
}

function typeOf({ resolvedType, type }: Pick<Field, 'resolvedType' | 'type'>): object {
  if (resolvedType === null) return { type: SCALARS[type] }
  return { type: resolvedType instanceof Enum ? ENUM : MESSAGE, type_name: resolvedType.fullName }
}

/** A map is a list of entries on the wire. */
function describeEntry(field: MapField): object {
  const part = (name: string, number: number, type: object) => ({
    name,
    number,
    label: OPTIONAL,
    ...type,
    json_name: name,
  })
  const value = { type: field.type, resolvedType: field.resolvedType }
  return {
    name: `${capitalised(field.name)}Entry`,
    field: [part('key', 1, { type: SCALARS[field.keyType] }), part('value', 2, typeOf(value))],
    options: { map_entry: true },
  }
}

const describeEnum = ({ name, values }: Enum): object => ({
  name,
  value: Object.entries(values).map(([value, number]) => ({ name: value, number })),
})

const describeService = ({ name, methodsArray }: Service): object => ({
  name,
  method: methodsArray.map((method) => ({
    name: method.name,
    input_type: method.resolvedRequestType!.fullName,
    output_type: method.resolvedResponseType!.fullName,
    ...(method.requestStream ? { client_streaming: true } : {}),
    ...(method.responseStream ? { server_streaming: true } : {}),
  })),
})
