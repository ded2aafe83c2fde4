/** Which news of a task were told: a peer that is asked again begins at the first. */
import type { PeerReply } from './peer-request.ts'

/** What was told of one task, in order. */
export class ToldNews {
  readonly #told: string[] = []
  #isAccepted = false
  /** Where among them the peer is that tells them again; undefined when it is past them. */
  #place: number | undefined

  /** The task was asked for again: its news begin at the first. */
  startAgain(): void {
    this.#place = 0
  }

  /** Whether this was not told yet; it counts as told then. */
  isNew(news: Extract<PeerReply, { type: 'task_accepted' | 'task_progress' }>): boolean {
    if (news.type === 'task_accepted') {
      const isFirst = !this.#isAccepted
      this.#isAccepted = true
      return isFirst
    }
    const text = JSON.stringify(news)
    if (this.#place !== undefined && this.#told[this.#place] === text) {
      this.#place += 1
      return false
    }
    this.#place = undefined
    this.#told.push(text)
    return true
  }
}
