/**
 * Formats families as Prometheus text format 0.0.4 or OpenMetrics 1.0.0. Pure. OpenMetrics describes a counter without
 * `_total`, escapes quotes in help texts, and ends with `# EOF`.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
 */
import type { Family, Sample } from './registry.ts'

/** Exposition format. */
export type TextFormat = 'prometheus' | 'openmetrics'

/** Media type of each format. */
export const MEDIA_TYPES: Readonly<Record<TextFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Returns the format for an `Accept` header: OpenMetrics if it is named, as Prometheus does. */
export function chooseFormat(accept: string | null): TextFormat {
  return accept?.includes('application/openmetrics-text') === true ? 'openmetrics' : 'prometheus'
}

/** Formats families as text. */
export function formatMetrics(families: readonly Family[], format: TextFormat): string {
  const isOpen = format === 'openmetrics'
  const lines = families.flatMap((family) => formatFamily(family, isOpen))
  return [...lines, ...(isOpen ? ['# EOF'] : []), ''].join('\n')
}

function formatFamily({ name, type, help, samples }: Family, isOpen: boolean): readonly string[] {
  const described = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name
  return [
    `# HELP ${described} ${isOpen ? escapeLabel(help) : escapeHelp(help)}`,
    `# TYPE ${described} ${type}`,
    ...samples.map((sample) => formatSample(name, sample)),
  ]
}

function formatSample(name: string, { suffix, labels, value }: Sample): string {
  const pairs = labels.map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  const list = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  return `${name}${suffix}${list} ${formatNumber(value)}`
}

/** Formats a number as Go parses it. */
function formatNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
