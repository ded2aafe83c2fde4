/** Pure: why a model ended its answer early, as lines of the terminal say it. */
import type { FinishReason } from '@tutti/protocol'

/** The words; undefined for an answer that is whole. */
export function earlyEnd(reason: FinishReason | undefined): string | undefined {
  switch (reason) {
    case 'length':
      return 'answer cut at the output limit'
    case 'refusal':
      return 'refused to answer'
    case 'content_filter':
      return 'answer blocked by a content filter'
    default:
      return undefined
  }
}
