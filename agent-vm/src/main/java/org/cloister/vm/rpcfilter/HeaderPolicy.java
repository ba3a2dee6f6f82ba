package org.cloister.vm.rpcfilter;

import java.util.Optional;

/**
 * Judges the header of a worker's message. What it does not know it refuses.
 *
 * <p>No flag is admitted: Slurm's own programs set none in requests to slurmctld, and slurmctld believes them as they come.
 * {@code CTLD_QUEUE_PROCESSING} has it change jobs without its locks, {@code SLURM_NO_AUTH_CRED} leaves the credential out.
 *
 * @param release of the slurmctld behind; workers run the same
 * @param most bytes of a message
 */
public record HeaderPolicy(SlurmRelease release, int most) {
    /** @return empty if the message may pass */
    Optional<Refusal> judge(MessageHeader header) {
        if (header.length() < MessageHeader.LEAST_LENGTH || header.length() > most) {
            return refuse(
                    Refusal.Code.LENGTH,
                    "length: expected " + MessageHeader.LEAST_LENGTH + " to " + most + ", got " + header.length());
        }
        if (header.version() != release.version()) {
            return refuse(
                    Refusal.Code.VERSION,
                    "protocol version: expected " + release.version() + " of Slurm " + release + ", got "
                            + header.version());
        }
        if (header.flags() != 0) {
            return refuse(Refusal.Code.FLAGS, "flags: expected 0, got " + header.flags());
        }
        if (header.forwards() != 0 || header.answers() != 0) {
            return refuse(
                    Refusal.Code.FORWARD,
                    "forwards and answers: expected 0 and 0, got " + header.forwards() + " and " + header.answers());
        }
        if (header.bodyLength() > header.length() - MessageHeader.LEAST_LENGTH) {
            return refuse(
                    Refusal.Code.LENGTH,
                    "body: expected at most " + (header.length() - MessageHeader.LEAST_LENGTH) + " bytes, got "
                            + header.bodyLength());
        }
        Optional<MessageType> type = MessageType.of(header.type());
        if (type.isEmpty()) {
            return refuse(Refusal.Code.UNKNOWN, "type " + header.type() + " is not known");
        }
        return type.filter(each -> !each.isAdmitted()).map(Refusal::type);
    }

    private static Optional<Refusal> refuse(Refusal.Code code, String text) {
        return Optional.of(Refusal.of(code, text));
    }
}
