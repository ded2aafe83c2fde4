/** The User-Agent of requests. Services such as GitHub refuse requests without one. */
import { createRequire } from 'node:module'

let userAgent: string | undefined

/** Returns `tutti/VERSION`, with the version of this package. */
export function defaultUserAgent(): string {
  // NOTE: this is the manifest of this package, found by its name from the sources and from the build.
  const load = (): { readonly version: string } =>
    createRequire(import.meta.url)('@tutti/net/package.json') as { readonly version: string }
  userAgent ??= `tutti/${load().version}`
  return userAgent
}
