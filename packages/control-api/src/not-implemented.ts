import { TuttiError } from '@tutti/core'

/** The error for a part of the protocol that this version does not act on. */
export function notImplemented(what: string): TuttiError {
  return new TuttiError('NOT_IMPLEMENTED', `This version of the server does not support ${what}`)
}
