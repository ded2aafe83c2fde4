/** Finds the references to container images in the files of the repository, and sets the version of the server's image. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files that name images: builds, deployments, projects that are generated, and documents. */
const FILES = [
  '**/*Dockerfile',
  '*.{yaml,md}',
  'deploy/**/*.{yaml,md}',
  'docs/**/*.md',
  '{apps,examples,packages}/**/*.{yaml,md}',
]

export interface ImageReference {
  /** Path of the file, relative to the root. */
  readonly file: string
  /** The reference with its tag and digest. */
  readonly image: string
}

/** Name of the server's image. */
export const SERVER_IMAGE = 'ghcr.io/tutti-dev/tutti-server'

const SERVER_REFERENCE = /ghcr\.io\/tutti-dev\/tutti-server(?:[:@][\w.:-]+)?/g

/** References with a keyword: the base of a build, and the image of a container. */
const NAMED_REFERENCE = /^(?:FROM(?: --\S+)*|\s*(?:- )?image:) +(?<image>[^\s#]+)/gm

/** Lists the references in the files below `root`, without those to an earlier stage of the same build. */
export function listImages(root: string): readonly ImageReference[] {
  return listFiles(root).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const stages = [...text.matchAll(/^FROM .* AS (\w+)$/gm)].map(([, name]) => name)
    const named = [...text.matchAll(NAMED_REFERENCE)].map(({ groups }) => groups?.['image'] ?? '')
    const own = [...text.matchAll(SERVER_REFERENCE)].map(([image]) => image)
    return [...new Set([...named, ...own])]
      .filter((image) => !stages.includes(image))
      .map((image) => ({ file, image }))
  })
}

/** Returns the paths of the files that can name images, relative to `root`. */
export function listFiles(root: string): readonly string[] {
  const exclude = ['**/node_modules/**', '**/dist/**', '**/CHANGELOG.md']
  return globSync(FILES, { cwd: root, exclude }).toSorted()
}

/** Returns a text in which each reference to the server's image has the tag `version`. */
export function setServerVersion(text: string, version: string): string {
  return text.replaceAll(SERVER_REFERENCE, `${SERVER_IMAGE}:${version}`)
}
