package org.cloister.luks.volume;

/**
 * A token in a LUKS2 header.
 *
 * @param json an object with at least {@code "type"} and {@code "keyslots"}, as it stands in the header; untrusted
 */
public record LuksToken(int number, String json) {}
