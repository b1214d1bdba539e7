/** Whether a host is this machine and nothing else: its name or address, an IPv6 address with or without brackets. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
