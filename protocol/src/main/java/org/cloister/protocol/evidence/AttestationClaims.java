package org.cloister.protocol.evidence;

/**
 * What a VM tells its host to vouch for, over the pipe that the host made for it. The host cannot check any of it: it
 * vouches that this VM said so, and said nothing else before.
 */
public record AttestationClaims(BootPublicKeys keys, Nonce nonce, CircuitBinding binding) {}
