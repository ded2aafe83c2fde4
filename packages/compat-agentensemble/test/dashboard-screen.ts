/** A dashboard on a real WebSocket, which stores its screen and the problems of received messages. */
import { fieldProblems } from './dashboard-fields.ts'
import { EMPTY_PICTURE, applyMessage, withoutPanel, type Picture } from './dashboard-model.ts'

import type { TestServer, Socket } from '../../control-api/test/open-server.ts'
import type { ServerMessage } from '@tutti/protocol'

/** Origin of a page that another server on this machine serves. */
const HEADERS = { origin: 'http://127.0.0.1:5173' }

/** A connected dashboard. */
export class Screen implements AsyncDisposable {
  readonly socket: Socket
  picture: Picture = EMPTY_PICTURE
  readonly problems: string[] = []
  readonly #watchers = new Set<() => void>()

  constructor(api: TestServer, path = '/ws') {
    this.socket = api.connect(path, HEADERS)
    this.socket.socket.on('message', (data: Buffer) => {
      // NOTE: `fieldProblems` checks whether it is a message.
      this.#see(JSON.parse(data.toString()) as ServerMessage)
    })
  }

  /** Resolves with the screen when it meets a condition. */
  until(isSo: (picture: Picture) => boolean): Promise<Picture> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isSo(this.picture)) return
        this.#watchers.delete(look)
        resolve(this.picture)
      }
      this.#watchers.add(look)
      look()
    })
  }

  /** Resolves with the screen when `hello` has arrived. */
  async greeted(): Promise<Picture> {
    await this.socket.next('hello')
    return this.picture
  }

  /** Resolves with the screen when the current run has ended. */
  ended(runId: string): Promise<Picture> {
    return this.until(
      ({ ensembleId, completedAt }) => ensembleId === runId && completedAt !== undefined,
    )
  }

  /** Sends the message of a button, and closes the panel at once. */
  decide(
    reviewId: string,
    decision: 'CONTINUE' | 'EDIT' | 'EXIT_EARLY',
    revisedOutput?: string,
  ): void {
    this.socket.send({
      type: 'review_decision',
      reviewId,
      decision,
      ...(revisedOutput === undefined ? {} : { revisedOutput }),
    })
    this.#show(withoutPanel(this.picture, reviewId))
  }

  /** Decides the panel that is open or opens next. */
  async answer(decision: 'CONTINUE' | 'EDIT' | 'EXIT_EARLY', revisedOutput?: string) {
    const { panels } = await this.until((picture) => picture.panels.length > 0)
    const [panel] = panels
    if (panel === undefined) throw new Error('No panel is open')
    this.decide(panel.reviewId, decision, revisedOutput)
    return panel
  }

  #see(message: ServerMessage): void {
    const isLate = this.socket.received.length > 1 && message.type === 'hello'
    const isEarly = this.socket.received.length === 1 && message.type !== 'hello'
    if (isLate || isEarly) this.problems.push(`${message.type}: hello is not the first message`)
    this.problems.push(...fieldProblems(message))
    this.#show(applyMessage(this.picture, message))
  }

  #show(picture: Picture): void {
    this.picture = picture
    for (const watcher of this.#watchers) watcher()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.socket[Symbol.asyncDispose]()
  }
}
