package org.cloister.protocol.audit;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;

/** Line of a segment; its first member states its type. Each line has exactly one spelling. */
public sealed interface AuditLine permits AuditRecord, AuditSegmentHeader, AuditHeadLine {

    /**
     * Parses a line.
     *
     * @param line without its line feed
     */
    static AuditLine parse(byte[] line) throws MalformedException {
        if (startsWith(line, "{\"number\":")) {
            return AuditRecord.parse(line);
        }
        if (startsWith(line, "{\"payload\":")) {
            return AuditHeadLine.parse(line);
        }
        if (startsWith(line, "{\"format\":")) {
            return AuditSegmentHeader.parse(line);
        }
        throw new MalformedException("line: want a record, a head or a segment's start, have none of them");
    }

    /** Rejects another spelling of the same values. */
    static void requireSame(byte[] want, byte[] have) throws MalformedException {
        if (!Arrays.equals(want, have)) {
            throw new MalformedException("line: want members in their order without spaces, have another spelling");
        }
    }

    private static boolean startsWith(byte[] line, String prefix) {
        byte[] want = prefix.getBytes(StandardCharsets.US_ASCII);
        return line.length >= want.length && Arrays.equals(line, 0, want.length, want, 0, want.length);
    }
}
