// The reflection service of gRPC: which services there are, and the descriptors of the files that declare them. It
// tells what the published .proto says and needs no token.
import type { ServerDuplexStream, UntypedServiceImplementation } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import type { Message } from './call.ts'
import type { ProtoFile } from './definitions.ts'

export function createReflection(files: readonly ProtoFile[]): UntypedServiceImplementation {
  const described = (file: ProtoFile | undefined, what: unknown): Message =>
    file === undefined
      ? notFound(`no ${String(what).slice(0, 256)} here`)
      : { file_descriptor_response: { file_descriptor_proto: [file.descriptor] } }

  function answerTo(request: Message): Message {
    switch (request.message_request) {
      case 'list_services': {
        const names = files.flatMap(({ services }) => services)
        return { list_services_response: { service: names.map((name) => ({ name })) } }
      }
      case 'file_by_filename': {
        const { file_by_filename: name } = request
        return described(
          files.find((file) => file.name === name),
          name,
        )
      }
      case 'file_containing_symbol': {
        const { file_containing_symbol: symbol } = request
        return described(
          files.find(({ symbols }) => symbols.has(String(symbol))),
          symbol,
        )
      }
      case 'all_extension_numbers_of_type':
      case 'file_containing_extension':
        return notFound('there are no extensions here')
      default:
        return {
          error_response: { error_code: status.INVALID_ARGUMENT, error_message: 'say what to look for' },
        }
    }
  }

  return {
    ServerReflectionInfo(call: ServerDuplexStream<Message, Message>) {
      call.on('error', () => {})
      call.on('data', (request: Message) => {
        const hasRoom = call.write({ original_request: request, ...answerTo(request) })
        if (!hasRoom) {
          call.pause()
          call.once('drain', () => call.resume())
        }
      })
      call.on('end', () => call.end())
    },
  }
}

const notFound = (message: string): Message => ({
  error_response: { error_code: status.NOT_FOUND, error_message: message },
})
