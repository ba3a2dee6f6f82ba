package org.cloister.luks.volume;

/**
 * A token in a LUKS2 header.
 *
 * @param json an object with at least {@code "type"} and {@code "keyslots"}, as the header contains it; untrusted
 */
public record LuksToken(int number, String json) {}
