package org.cloister.vm.rpcfilter;

import java.util.Optional;

/**
 * Decides on the header of a worker's message. Refuses all that it does not know.
 *
 * <p>No flag is admitted: Slurm's own programs set none in requests to slurmctld, and slurmctld acts on flags without
 * verifying them. {@code CTLD_QUEUE_PROCESSING} makes it change jobs without its locks, {@code SLURM_NO_AUTH_CRED}
 * omits the credential.
 *
 * @param release of the slurmctld behind the filter; workers run the same
 * @param maxBytes bytes of a message
 */
public record RpcHeaderPolicy(SlurmRelease release, int maxBytes) {
    /**
     * Checks a header.
     *
     * @return empty if the message may pass
     */
    Optional<RpcRefusal> check(SlurmMessageHeader header) {
        if (header.length() < SlurmMessageHeader.LEAST_LENGTH || header.length() > maxBytes) {
            return refuse(
                    RpcRefusal.Code.LENGTH,
                    "length: expected " + SlurmMessageHeader.LEAST_LENGTH + " to " + maxBytes + ", got "
                            + header.length());
        }
        if (header.version() != release.version()) {
            return refuse(
                    RpcRefusal.Code.VERSION,
                    "protocol version: expected " + release.version() + " of Slurm " + release + ", got "
                            + header.version());
        }
        if (header.flags() != 0) {
            return refuse(RpcRefusal.Code.FLAGS, "flags: expected 0, got " + header.flags());
        }
        if (header.forwards() != 0 || header.answers() != 0) {
            return refuse(
                    RpcRefusal.Code.FORWARD,
                    "forwards and answers: expected 0 and 0, got " + header.forwards() + " and " + header.answers());
        }
        if (header.bodyLength() > header.length() - SlurmMessageHeader.LEAST_LENGTH) {
            return refuse(
                    RpcRefusal.Code.LENGTH,
                    "body: expected at most " + (header.length() - SlurmMessageHeader.LEAST_LENGTH) + " bytes, got "
                            + header.bodyLength());
        }
        Optional<SlurmMessageType> type = SlurmMessageType.of(header.type());
        if (type.isEmpty()) {
            return refuse(RpcRefusal.Code.UNKNOWN, "type " + header.type() + " is not known");
        }
        return type.filter(each -> !each.isAdmitted()).map(RpcRefusal::type);
    }

    private static Optional<RpcRefusal> refuse(RpcRefusal.Code code, String text) {
        return Optional.of(RpcRefusal.of(code, text));
    }
}
