package org.cloister.vm.access;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.Digest;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.Fact;

/** What one exporter's session writes of itself: who, when, which path, how many bytes. */
final class ExportRecords {
    private static final int PATH_CHARS = 256;
    private static final String SENT = "export.sent";

    private final Records records;
    private final Session.Who who;
    private final InstantSource clock = InstantSource.system();
    private final AtomicLong all = new AtomicLong();

    ExportRecords(Records records, Session.Who who) {
        this.records = records;
        this.who = who;
    }

    void begun() throws IOException {
        records.append(event("export.begun"));
    }

    /** A file, or all below a folder, before a byte of it goes out. */
    void opened(byte[] path) throws IOException {
        records.append(of("export.opened", path));
    }

    void sent(byte[] path, long bytes) throws IOException {
        all.addAndGet(bytes);
        records.append(of(SENT, path).with(Fact.BYTES, bytes));
    }

    /** @return bytes of the file, if this is the record of one that went out */
    static OptionalLong sent(AuditEvent event) {
        return event.kind().equals(SENT) && event.facts().get(Fact.BYTES) instanceof Long bytes
                ? OptionalLong.of(bytes)
                : OptionalLong.empty();
    }

    void ended() throws IOException {
        records.append(event("export.ended").with(Fact.BYTES, all.get()));
    }

    private AuditEvent event(String kind) {
        Instant now = clock.instant();
        return AuditEvent.of(now, kind)
                .by(who.keyId())
                .with(Fact.PERSON, who.person().toString())
                .with(Fact.LOGIN, who.member().login())
                .with(Fact.SESSION, who.number());
    }

    /** A longer path is cut, and its digest says which one it was. */
    private AuditEvent of(String kind, byte[] path) {
        String text = printable(path);
        AuditEvent event = event(kind).with(Fact.PATH, text.substring(0, Math.min(text.length(), PATH_CHARS)));
        return text.length() > PATH_CHARS
                ? event.with(Fact.DIGEST, BinaryText.base32(Digest.sha256(path).bytes()))
                : event;
    }

    /** Bytes that are no printable ASCII, blanks and percent signs as in URLs; an empty path is one dot. */
    static String printable(byte[] path) {
        if (path.length == 0) {
            return ".";
        }
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (byte each : path) {
            if (each > ' ' && each < 127 && each != '%') {
                text.write(each);
            } else {
                text.writeBytes(String.format("%%%02X", each & 0xff).getBytes(StandardCharsets.US_ASCII));
            }
        }
        return text.toString(StandardCharsets.US_ASCII);
    }
}
