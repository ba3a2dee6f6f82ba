package org.cloister.protocol.audit;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * First line of each segment, which binds the segment to the one before it.
 *
 * @param first number of the segment's first record
 * @param after the chain's hash over every line before this one
 * @param event the highest event id in the segments before
 * @param key the key that signs every head of this segment
 */
public record AuditSegmentHeader(String relay, String log, long first, Digest after, long event, VerificationKey key)
        implements AuditLine {
    /** Pattern of segment names; they sort in the order of their records. */
    public static final Pattern FILE = Pattern.compile("audit-[0-9]{16}\\.jsonl");

    private static final String FORMAT = "cloister-audit-v1";
    private static final int MAX_KEY = 128;

    static AuditSegmentHeader parse(byte[] line) throws MalformedException {
        StrictJson json = StrictJson.read(line, AuditRecord.MAX_LINE);
        json.requireFormat(FORMAT);
        AuditSegmentHeader start = new AuditSegmentHeader(
                json.text("relay", AuditHead.RELAY),
                json.text("log", AuditHead.LOG),
                json.number("first", 1, AuditRecord.MAX_NUMBER),
                json.digest("after", Digest.Algorithm.SHA256),
                json.number("event", 0, AuditRecord.MAX_NUMBER),
                VerificationKey.parse(json.base64("key", MAX_KEY)));
        json.requireNothingElse();
        AuditLine.requireSame(start.line(), line);
        return start;
    }

    /** Returns the bytes that are hashed. */
    public byte[] line() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("relay", relay)
                .put("log", log)
                .put("first", first)
                .put("after", after.hex())
                .put("event", event)
                .put("key", BinaryText.base64(key.encoded()))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    public String fileName() {
        return fileName(first);
    }

    /**
     * Returns the file name of a segment.
     *
     * @param first number of the segment's first record
     */
    public static String fileName(long first) {
        return String.format(Locale.ROOT, "audit-%016d.jsonl", first);
    }
}
