/** Checks that every container image is named by an exact version or a digest, and the server's image by its version. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { listImages, SERVER_IMAGE, setServerVersion } from '../container/image-references.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(ROOT, 'apps/server/package.json'), 'utf8'),
)

const DIGEST = /@sha256:[0-9a-f]{64}$/

/** Tag with all numbers of a version. Versions of Postgres have two. */
const EXACT_TAG = /(?:^|\/)postgres:\d+\.\d+(?:-[\w.-]+)?$|:v?\d+\.\d+\.\d+(?:-[\w.-]+)?$/

const isExact = (image: string): boolean => DIGEST.test(image) || EXACT_TAG.test(image)

describe('the container images of the repository', () => {
  const images = listImages(ROOT)

  it('The container images of the repository are found in builds, deployments, generated projects and documents', () => {
    const files = images.map(({ file }) => file)
    for (const file of [
      'Dockerfile',
      'compose.yaml',
      'deploy/kubernetes/base/tutti.yaml',
      'deploy/kubernetes/components/nats/nats.yaml',
      'docs/production.md',
      'packages/create-tutti/template/Dockerfile',
    ]) {
      expect(files).toContain(file)
    }
  })

  it('The container images of the repository have an exact version or a digest', () => {
    expect(images.filter(({ image }) => !isExact(image))).toEqual([])
  })

  it('The container images of the repository have the Node version of the repository in the build of the server', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const bases = images.filter(
      ({ file, image }) => file === 'Dockerfile' && !image.startsWith(SERVER_IMAGE),
    )
    expect(bases).toEqual([{ file: 'Dockerfile', image: `node:${devDependencies.node}-slim` }])
  })

  it('The container images of the repository have the version of the server if they are its image', () => {
    const own = images.filter(({ image }) => image.startsWith(SERVER_IMAGE))
    expect(own.length).toBeGreaterThan(3)
    expect(own.filter(({ image }) => image !== `${SERVER_IMAGE}:${version}`)).toEqual([])
  })
})

describe('an image', () => {
  it('An image is found as a base with options, but not as a stage of the same build', () => {
    const root = mkdtempSync(join(tmpdir(), 'tutti-images-'))
    try {
      const text =
        'FROM --platform=$X node:1 AS build\nRUN a\nFROM build\n# FROM other\nFROM node:2\n'
      writeFileSync(join(root, 'Dockerfile'), text)
      writeFileSync(join(root, 'a.yaml'), 'a:\n  image: nats # x\nb:\n  - image: postgres:18\n')
      writeFileSync(join(root, 'a.md'), `\`docker run ${SERVER_IMAGE} start\``)
      expect(listImages(root).map(({ image }) => image)).toEqual([
        'node:1',
        'node:2',
        SERVER_IMAGE,
        'nats',
        'postgres:18',
      ])
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  it('An image of the server gets a new version in place of a tag or none', () => {
    const text = `${SERVER_IMAGE}:1.0.0 and ${SERVER_IMAGE} start, oci://${SERVER_IMAGE}:latest --repo`
    expect(setServerVersion(text, '1.2.3')).toBe(
      `${SERVER_IMAGE}:1.2.3 and ${SERVER_IMAGE}:1.2.3 start, oci://${SERVER_IMAGE}:1.2.3 --repo`,
    )
  })
})
