/**
 * Unpacks the compressed Chromium of the npm package `@sparticuz/chromium`: for Linux on x64, with the shared
 * libraries and fonts that a bare machine lacks.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Program, arguments and environment of a browser. */
export interface BrowserProgram {
  readonly executablePath: string
  /** Environment variables in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Unpacks the browser once for each version, below `parent`. Safe in concurrent processes, because the complete
 * folder is renamed into place.
 *
 * @throws {Error} on systems other than Linux on x64, or when the package is not installed.
 */
export async function unpackChromium(parent: string = tmpdir()): Promise<BrowserProgram> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const system = `${process.platform} on ${process.arch}`
    throw new Error(`@sparticuz/chromium has a browser for linux on x64, this is ${system}`)
  }
  const entry = import.meta.resolve('@sparticuz/chromium')
  const folder = join(parent, `tutti-browser-${process.getuid?.() ?? 0}-${versionOf(entry)}`)
  if (!existsSync(folder)) await unpackTo(folder, entry)
  const libraries = [join(folder, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH'] ?? '']
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      LD_LIBRARY_PATH: libraries.filter((path) => path !== '').join(':'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  }
}

function versionOf(entry: string): string {
  const text = readFileSync(new URL('../package.json', entry), 'utf8')
  // NOTE: every npm package has a version.
  return (JSON.parse(text) as { version: string }).version
}

/**
 * Unpacks in a separate process: the package writes to the temporary folder of its process, and includes the
 * libraries only if the environment looks like AWS Lambda.
 */
async function unpackTo(folder: string, entry: string): Promise<void> {
  const staging = await mkdtemp(`${folder}-`)
  const script = `const { default: chromium } = await import(${JSON.stringify(entry)})
    await chromium.executablePath()`
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    })
    await writeFile(join(staging, 'fonts', 'fonts.conf'), fontSettings(folder))
    await rename(staging, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Replaces the package's font settings, which name folders of AWS Lambda. Without fonts, text has no size. */
function fontSettings(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`
}
