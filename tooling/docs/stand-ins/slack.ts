/**
 * Plays Slack: the refusals of `chat.postMessage`, and signed requests for button presses.
 *
 * @see https://docs.slack.dev/reference/methods/chat.postMessage
 * @see https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
import { createHmac } from 'node:crypto'

import { localServer, type ReceivedRequest } from '../../test-kit/local-server.ts'

/** Maximum length of the text of a section, in characters. */
const MAX_SECTION = 3_000

/** Name of the only channel. */
const CHANNEL = '#approvals'

/** A button of a posted message. */
interface Button {
  readonly type: string
  readonly action_id: string
  readonly value: string
}

/** Checked fields of the body of `chat.postMessage`. */
interface Message {
  readonly channel?: string
  readonly blocks?: readonly [
    section?: { readonly type: string; readonly text: { readonly text: string } },
    actions?: { readonly type: string; readonly elements: readonly Button[] },
  ]
}

interface Press {
  /** Name of the person. */
  readonly user: string
  /** `action_id` of the button. */
  readonly action: string
  /** Secret that signs the request. @default that of the app */
  readonly secret?: string
  /** Seconds since the request was signed. @default 0 */
  readonly age?: number
}

export interface SlackStandIn {
  /** Address of the methods. */
  readonly url: string
  /** Error codes of the refused messages. */
  readonly refusals: readonly string[]
  /** Buttons of the posted messages. */
  readonly buttons: readonly Button[]
  /** Texts that replaced the message. */
  readonly updates: readonly string[]
  /** Presses a button of the last message. Returns the status with which the app answers. */
  press(app: string, press: Press): Promise<number>
}

/** Starts Slack with one app, until the end of the test. */
export async function startSlack(token: string, signingSecret: string): Promise<SlackStandIn> {
  const refusals: string[] = []
  const buttons: Button[] = []
  const updates: string[] = []
  const { origin } = await localServer((response, request) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (request.url === '/update') {
      updates.push(JSON.parse(request.body).text)
      return response.end('{"ok":true}')
    }
    const message: Message = JSON.parse(request.body)
    const error = findRefusal(request, message, token)
    if (error === undefined) buttons.push(...(message.blocks?.[1]?.elements ?? []))
    else refusals.push(error)
    return response.end(JSON.stringify(error === undefined ? { ok: true } : { ok: false, error }))
  })
  return {
    url: origin,
    refusals,
    buttons,
    updates,
    async press(app, { user, action, secret = signingSecret, age = 0 }) {
      const payload = {
        type: 'block_actions',
        user: { username: user },
        actions: buttons.filter(({ action_id: id }) => id === action),
        response_url: `${origin}/update`,
      }
      const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
      const time = Math.floor(Date.now() / 1_000) - age
      const signature = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')
      const { status } = await fetch(app, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-slack-request-timestamp': `${time}`,
          'x-slack-signature': `v0=${signature}`,
        },
        body,
      })
      return status
    },
  }
}

/** Returns the error code with which Slack refuses a message; undefined if it accepts it. */
function findRefusal(
  { url, headers: { authorization } }: ReceivedRequest,
  { channel, blocks = [] }: Message,
  token: string,
): string | undefined {
  const [section, actions] = blocks
  if (url !== '/chat.postMessage') return 'unknown_method'
  if (authorization === undefined) return 'not_authed'
  if (authorization !== `Bearer ${token}`) return 'invalid_auth'
  if (channel !== CHANNEL) return 'channel_not_found'
  const isSection = section?.type === 'section' && section.text.text.length <= MAX_SECTION
  const isComplete = isSection && actions?.elements.every(({ type }) => type === 'button')
  return isComplete === true ? undefined : 'invalid_blocks'
}
