package org.cloister.protocol.handover;

import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.LengthPrefixedFields;
import org.cloister.protocol.evidence.Nonce;

/**
 * HPKE's {@code info} for secrets sealed to a booting VM: a secret sealed for one VM, nonce and use opens for no other.
 * docs/protocol.md, section 11, has the fields.
 */
public final class SealingContext {
    public static final String HAND_OVER = "cloister hand-over v1";
    public static final String READMISSION = "cloister readmission v1";
    public static final String UNLOCK = "cloister unlock v1";

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
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text(label),
                LengthPrefixedFields.text(project),
                LengthPrefixedFields.text(target.ticket()),
                LengthPrefixedFields.number(target.slot()),
                LengthPrefixedFields.text(target.vm()),
                nonce(target));
    }

    /** Returns the context of the drive's key in a {@link ProjectUnlock}. */
    public static byte[] unlock(String project, HandoverTarget target, long epoch) {
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text(UNLOCK),
                LengthPrefixedFields.text(project),
                LengthPrefixedFields.text(target.ticket()),
                LengthPrefixedFields.text(target.vm()),
                nonce(target),
                LengthPrefixedFields.number(epoch));
    }

    private static byte[] nonce(HandoverTarget target) {
        return BinaryText.fromBase64(target.nonce().base64(), Nonce.BYTES);
    }
}
