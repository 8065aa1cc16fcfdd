// What a chat app sends and receives for a user online, to show presence beside it. All of it is an assumption. Only what
// users write, show and say counts: no calls, no connection that is kept open, and each message has one recipient.
import type { Figure, Sheet } from './sheet.ts'
import { wireOf } from './wire.ts'

export function chatBytesAnHour(sheet: Sheet): Figure {
  const { figure, constant } = sheet
  const { bothWays } = wireOf(sheet)
  return figure('bytes of a user in a chat app, for comparison', 'an hour', () => {
    // It is told that the message was delivered, and that it was read.
    const text = bothWays(constant('chat_text_bytes')) + 2 * bothWays(constant('chat_receipt_bytes'))
    const sent =
      constant('chat_texts') * text +
      constant('chat_pictures') * bothWays(constant('chat_picture_bytes')) +
      constant('chat_voice_notes') * bothWays(constant('chat_voice_note_bytes')) +
      constant('chat_videos') * bothWays(constant('chat_video_bytes'))
    // As much is received.
    return 2 * sent
  })
}
