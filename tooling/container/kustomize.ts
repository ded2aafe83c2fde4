/**
 * Renders the used subset of Kustomize: `namespace`, `resources`, `components`, and JSON patches (RFC 6902) with `add` and
 * `remove`. Other fields are refused, so that the result is that of `kubectl kustomize`.
 *
 * @see https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { parse, parseAllDocuments } from 'yaml'

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  // NOTE: any shape; the schemas of Kubernetes check it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly spec?: any
  readonly data?: Readonly<Record<string, string>>
}

interface Kustomization {
  readonly apiVersion: string
  readonly kind: 'Kustomization' | 'Component'
  readonly namespace?: string
  readonly resources?: readonly string[]
  readonly components?: readonly string[]
  readonly patches?: readonly Patch[]
}

interface Patch {
  readonly target: {
    readonly kind: string
    readonly name?: string
    readonly labelSelector?: string
  }
  readonly patch: string
}

interface Operation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

const FIELDS = ['apiVersion', 'kind', 'namespace', 'resources', 'components', 'patches']

/**
 * Renders the kustomization in a folder.
 *
 * @throws {Error} when it has a field, or a patch has an operation, that this subset does not have, or when a patch
 * matches no object
 */
export function renderKustomization(folder: string): readonly Manifest[] {
  const text = readFileSync(join(folder, 'kustomization.yaml'), 'utf8')
  return applyKustomization(folder, parse(text), [])
}

/** Renders a kustomization that is not in a file, with the paths relative to `folder`. */
export function renderOverlay(
  folder: string,
  overlay: Pick<Kustomization, 'resources' | 'components'>,
): readonly Manifest[] {
  return applyKustomization(
    folder,
    { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...overlay },
    [],
  )
}

/** A component changes the objects that were rendered before it. */
function applyKustomization(
  folder: string,
  kustomization: Kustomization,
  before: readonly Manifest[],
): readonly Manifest[] {
  const unknown = Object.keys(kustomization).filter((field) => !FIELDS.includes(field))
  if (unknown.length > 0) {
    throw new Error(`Unknown fields in the kustomization of ${folder}: ${unknown.join(', ')}`)
  }
  const { namespace, resources = [], components = [], patches = [] } = kustomization
  const own = resources.flatMap((path) =>
    path.endsWith('.yaml')
      ? readManifests(join(folder, path))
      : renderKustomization(join(folder, path)),
  )
  const all = components.reduce<readonly Manifest[]>(
    (objects, path) => {
      const component = join(folder, path)
      const text = readFileSync(join(component, 'kustomization.yaml'), 'utf8')
      return applyKustomization(component, parse(text), objects)
    },
    [...before, ...own],
  )
  const patched = patches.reduce(applyPatch, all)
  return namespace === undefined
    ? patched
    : patched.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }))
}

/** Reads a file. A `List` stands for its items. */
function readManifests(path: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).flatMap((document) => {
    if (document.errors.length > 0)
      throw new Error(`Invalid YAML in ${path}: ${document.errors[0]}`)
    const object = document.toJS()
    return object.kind === 'List' ? object.items : [object]
  })
}

function applyPatch(objects: readonly Manifest[], { target, patch }: Patch): readonly Manifest[] {
  const isTarget = ({ kind, metadata }: Manifest): boolean =>
    kind === target.kind &&
    (target.name ?? metadata.name) === metadata.name &&
    (target.labelSelector?.split(',') ?? []).every((label) => {
      const [name = '', value] = label.split('=')
      return metadata.labels?.[name] === value
    })
  if (!objects.some(isTarget)) throw new Error(`No object matches ${JSON.stringify(target)}`)
  const operations: readonly Operation[] = parse(patch)
  return objects.map((object) =>
    isTarget(object) ? operations.reduce(applyOperation, structuredClone(object)) : object,
  )
}

/** Changes the object in place. */
function applyOperation(object: Manifest, { op, path, value }: Operation): Manifest {
  const keys = path.slice(1).split('/')
  const last = keys.pop() ?? ''
  // oxlint-disable-next-line typescript/no-explicit-any
  const parent = keys.reduce((at: any, key) => at?.[key], object)
  if (op === 'add' && Array.isArray(parent) && last === '-') parent.push(value)
  else if (op === 'remove' && parent?.[last] !== undefined && !Array.isArray(parent))
    delete parent[last]
  else
    throw new Error(`Cannot apply "${op}" at "${path}" to ${object.kind} "${object.metadata.name}"`)
  return object
}
