import type { Problem } from '@tutti/protocol/internal'

/** Formats a problem with the name of its option, such as `until.succeeded must be …`. */
export function toOptionText({ path, message }: Problem): string {
  return `${path.slice(1).replaceAll('/', '.')} ${message}`
}
