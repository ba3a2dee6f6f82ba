package org.cloister.vm.controller.ssh;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;

/** Writes the records of one exporter's session: who, when, which path, how many bytes. */
final class ExportRecorder {
    private static final int PATH_CHARS = 256;
    private static final String SENT = "export.sent";

    private final ExportAuditSink sink;
    private final SshSession.Identity identity;
    private final InstantSource clock = InstantSource.system();
    private final AtomicLong totalBytes = new AtomicLong();

    ExportRecorder(ExportAuditSink sink, SshSession.Identity identity) {
        this.sink = sink;
        this.identity = identity;
    }

    void recordStart() throws IOException {
        sink.append(event("export.begun"));
    }

    /** Records a file, or everything below a folder, before a byte of it is sent. */
    void recordOpen(byte[] path) throws IOException {
        sink.append(pathEvent("export.opened", path));
    }

    void sent(byte[] path, long bytes) throws IOException {
        totalBytes.addAndGet(bytes);
        sink.append(pathEvent(SENT, path).with(AuditField.BYTES, bytes));
    }

    /**
     * Returns the size of a file that was sent.
     *
     * @return size in bytes, if the event records a file that was sent
     */
    static OptionalLong sent(AuditEvent event) {
        return event.kind().equals(SENT) && event.facts().get(AuditField.BYTES) instanceof Long bytes
                ? OptionalLong.of(bytes)
                : OptionalLong.empty();
    }

    void recordEnd() throws IOException {
        sink.append(event("export.ended").with(AuditField.BYTES, totalBytes.get()));
    }

    private AuditEvent event(String kind) {
        Instant now = clock.instant();
        return AuditEvent.of(now, kind)
                .by(identity.keyId())
                .with(AuditField.PERSON, identity.person().toString())
                .with(AuditField.LOGIN, identity.member().login())
                .with(AuditField.SESSION, identity.number());
    }

    /** Returns an event with a path. A longer path is cut, and its digest identifies it. */
    private AuditEvent pathEvent(String kind, byte[] path) {
        String text = printable(path);
        AuditEvent event = event(kind).with(AuditField.PATH, text.substring(0, Math.min(text.length(), PATH_CHARS)));
        return text.length() > PATH_CHARS
                ? event.with(
                        AuditField.DIGEST, BinaryText.base32(Digest.sha256(path).bytes()))
                : event;
    }

    /** Encodes bytes that are not printable ASCII, blanks and percent signs as in URLs; an empty path becomes a dot. */
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
