import { language, words } from '../texts'

/** A duration in seconds as people read it. */
export function duration(seconds: number): string {
  if (seconds < 0.0005) return '0 ms'
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  if (seconds < 3600) return words.common.minutes(Math.floor(seconds / 60), Math.floor(seconds % 60))
  return words.common.hours(Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60))
}

const SIZES = ['B', 'kB', 'MB', 'GB']

/** A number of bytes as people read it. */
export function bytes(count: number): string {
  let at = 0
  let left = count
  while (left >= 1000 && at < SIZES.length - 1) {
    left /= 1000
    at += 1
  }
  return `${at && left < 10 ? left.toFixed(1) : Math.round(left)} ${SIZES[at] ?? ''}`
}

/** A Unix time in seconds, in the words and zone of the reader. */
export function moment(at: number): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(at * 1000)
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** How long ago a Unix time was. */
export function ago(at: number, now: number): string {
  const past = now - at
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  for (const [unit, seconds] of STEPS) {
    if (Math.abs(past) >= seconds) return format.format(-Math.floor(past / seconds), unit)
  }
  return format.format(0, 'second')
}
