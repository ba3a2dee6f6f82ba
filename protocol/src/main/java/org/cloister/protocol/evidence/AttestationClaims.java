package org.cloister.protocol.evidence;

/**
 * Claims that a VM sends to its host over the channel that the host created for it. The host cannot verify any of them:
 * its signature states that this VM made these claims, and made no others before.
 */
public record AttestationClaims(BootPublicKeys keys, Nonce nonce, CircuitBinding binding) {}
