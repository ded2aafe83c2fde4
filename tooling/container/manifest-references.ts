/** Checks that objects of Kubernetes refer only to objects, ports and labels that exist. */
import type { Manifest } from './kustomize.ts'

/** Names of objects that the operator of a cluster creates. */
export interface ForeignNames {
  readonly secrets: readonly string[]
  readonly configMaps: readonly string[]
}

type Labels = Readonly<Record<string, string>>

/** Pods of a workload. */
interface Pods {
  readonly labels: Labels
  readonly ports: readonly (string | number)[]
}

/** Returns the references that lead nowhere, one line each. */
export function referenceProblems(
  manifests: readonly Manifest[],
  foreign: ForeignNames,
): readonly string[] {
  const workloads = manifests.filter(({ spec }) => spec?.template !== undefined)
  const pods = workloads.map((workload) => podsOf(workload))
  const names = (kind: string): readonly string[] =>
    manifests.filter((other) => other.kind === kind).map(({ metadata }) => metadata.name)
  const known = {
    Secret: [...names('Secret'), ...foreign.secrets],
    ConfigMap: [...names('ConfigMap'), ...foreign.configMaps],
    Service: names('Service'),
    Deployment: names('Deployment'),
    TriggerAuthentication: names('TriggerAuthentication'),
  }
  const services = manifests
    .filter(({ kind }) => kind === 'Service')
    .map(({ metadata, spec }) => ({
      labels: metadata.labels ?? {},
      ports: spec.ports.map(({ name }: { readonly name: string }) => name),
    }))
  return manifests.flatMap((manifest) => [
    ...listNames(manifest).flatMap(([kind, name]) =>
      known[kind].includes(name) ? [] : [`${describe(manifest)} names no ${kind}: "${name}"`],
    ),
    ...selectorProblems(manifest, manifest.kind === 'ServiceMonitor' ? services : pods),
    ...probeProblems(manifest),
  ])
}

type Referred = 'Secret' | 'ConfigMap' | 'Service' | 'Deployment' | 'TriggerAuthentication'

/** Lists the objects that an object names. */
function listNames({ kind, spec }: Manifest): readonly (readonly [Referred, string])[] {
  const found: (readonly [Referred, string])[] = []
  const add = (referred: Referred, name: string | undefined): void => {
    if (name !== undefined) found.push([referred, name])
  }
  for (const container of spec?.template?.spec.containers ?? []) {
    for (const { valueFrom } of container.env ?? []) {
      add('Secret', valueFrom?.secretKeyRef?.name)
      add('ConfigMap', valueFrom?.configMapKeyRef?.name)
    }
    for (const { secretRef, configMapRef } of container.envFrom ?? []) {
      add('Secret', secretRef?.name)
      add('ConfigMap', configMapRef?.name)
    }
  }
  for (const { configMap, secret } of spec?.template?.spec.volumes ?? []) {
    add('ConfigMap', configMap?.name)
    add('Secret', secret?.secretName)
  }
  if (kind === 'StatefulSet') add('Service', spec.serviceName)
  if (kind === 'ScaledObject') {
    add('Deployment', spec.scaleTargetRef.name)
    for (const { authenticationRef } of spec.triggers) {
      add('TriggerAuthentication', authenticationRef?.name)
    }
  }
  for (const { name } of spec?.secretTargetRef ?? []) add('Secret', name)
  for (const { authorization } of spec?.endpoints ?? []) {
    add('Secret', authorization?.credentials?.name)
  }
  return found
}

/** A Service or a budget must select pods, and a workload its own pods. All selected pods must have the port. */
function selectorProblems(manifest: Manifest, all: readonly Pods[]): readonly string[] {
  const { spec } = manifest
  if (spec?.selector === undefined) return []
  const wanted: Labels = spec.selector.matchLabels ?? spec.selector
  const isSelected = ({ labels }: Pods): boolean =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value)
  const own = spec.template === undefined ? all : [podsOf(manifest)]
  const selected = own.filter(isSelected)
  if (selected.length === 0) return [`${describe(manifest)} selects nothing`]
  const ports: readonly { targetPort?: string; port: string | number }[] =
    spec.template === undefined ? (spec.ports ?? spec.endpoints ?? []) : []
  return ports.flatMap(({ targetPort, port }) =>
    selected.every((pods) => pods.ports.includes(targetPort ?? port))
      ? []
      : [`${describe(manifest)} leads to no port "${targetPort ?? port}"`],
  )
}

function probeProblems(manifest: Manifest): readonly string[] {
  const containers = manifest.spec?.template?.spec.containers ?? []
  // oxlint-disable-next-line typescript/no-explicit-any
  return containers.flatMap((container: any) => {
    const { ports } = podsOf(manifest)
    const probes = [container.livenessProbe, container.readinessProbe, container.startupProbe]
    return probes.flatMap((probe) =>
      probe === undefined || ports.includes(probe.httpGet.port)
        ? []
        : [`${describe(manifest)} is probed at no port "${probe.httpGet.port}"`],
    )
  })
}

function podsOf({ spec }: Manifest): Pods {
  const { metadata, spec: pod } = spec.template
  const ports: readonly { name: string; containerPort: number }[] = pod.containers.flatMap(
    ({ ports: own = [] }: { ports?: readonly object[] }) => own,
  )
  return {
    labels: metadata.labels,
    ports: ports.flatMap(({ name, containerPort }) => [name, containerPort]),
  }
}

function describe({ kind, metadata }: Manifest): string {
  return `${kind} "${metadata.name}"`
}
