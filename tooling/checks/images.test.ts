/** Checks that every container image is named by an exact version and a digest, and the server's image by its version. */
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

/** Tag with all numbers of a version, which people read, and digest, which engines use. Versions of Postgres have two numbers. */
const PINNED = /^(?:postgres:\d+\.\d+|[\w./-]+:v?\d+\.\d+\.\d+)(?:-[\w.-]+)?@sha256:[0-9a-f]{64}$/

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

  const own = images.filter(({ image }) => image.startsWith(SERVER_IMAGE))
  const others = images.filter(({ image }) => !image.startsWith(SERVER_IMAGE))

  it('The container images of other projects have an exact version and a digest', () => {
    expect(others.length).toBeGreaterThan(7)
    expect(others.filter(({ image }) => !PINNED.test(image))).toEqual([])
  })

  it('One container image has one version and one digest everywhere', () => {
    const references = new Set(others.map(({ image }) => image))
    const names = new Set([...references].map((image) => image.replace(/[:@].*/, '')))
    expect([...references]).toHaveLength(names.size)
  })

  it('The Dockerfiles build on the Node version of the repository', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const bases = others.filter(({ file }) => file.endsWith('Dockerfile'))
    expect(bases.map(({ image }) => image.replace(/@.*/, ''))).toEqual([
      `node:${devDependencies.node}-slim`,
      `node:${devDependencies.node}-slim`,
    ])
  })

  it('The container images of the repository have the version of the server if they are its image', () => {
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
