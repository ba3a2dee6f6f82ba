package org.cloister.protocol.handover;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.evidence.Nonce;

/**
 * HPKE's {@code info} for secrets sealed to a booting VM: a secret sealed for one VM, nonce and use opens for no other.
 * Each field follows its length in two bytes; docs/protocol.md, section 11.
 */
public final class SealingContext {
    public static final String HAND_OVER = "cloister hand-over v1";
    public static final String READMISSION = "cloister readmission v1";
    public static final String UNLOCK = "cloister unlock v1";

    private final ByteArrayOutputStream fields = new ByteArrayOutputStream();

    private SealingContext() {}

    /** Returns the context of the munge key in a {@link HandoverDocument}. */
    public static byte[] handOver(String project, HandoverTarget target) {
        return munge(HAND_OVER, project, target);
    }

    /** Returns the context of the munge key in a {@link ReadmissionGrant}. */
    public static byte[] readmission(String project, HandoverTarget target) {
        return munge(READMISSION, project, target);
    }

    private static byte[] munge(String label, String project, HandoverTarget target) {
        return new SealingContext()
                .text(label)
                .text(project)
                .text(target.ticket())
                .field(ByteBuffer.allocate(Integer.BYTES).putInt(target.slot()).array())
                .text(target.vm())
                .field(nonce(target))
                .bytes();
    }

    /** Returns the context of the drive's key in a {@link ProjectUnlock}. */
    public static byte[] unlock(String project, HandoverTarget target, long epoch) {
        return new SealingContext()
                .text(UNLOCK)
                .text(project)
                .text(target.ticket())
                .text(target.vm())
                .field(nonce(target))
                .field(ByteBuffer.allocate(Long.BYTES).putLong(epoch).array())
                .bytes();
    }

    private static byte[] nonce(HandoverTarget target) {
        return BinaryText.fromBase64(target.nonce().base64(), Nonce.BYTES);
    }

    private SealingContext text(String text) {
        return field(text.getBytes(StandardCharsets.US_ASCII));
    }

    private SealingContext field(byte[] bytes) {
        fields.writeBytes(
                ByteBuffer.allocate(Short.BYTES).putShort((short) bytes.length).array());
        fields.writeBytes(bytes);
        return this;
    }

    private byte[] bytes() {
        return fields.toByteArray();
    }
}
