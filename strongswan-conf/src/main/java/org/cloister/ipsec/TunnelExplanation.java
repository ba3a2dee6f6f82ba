package org.cloister.ipsec;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Explains the state of a tunnel in plain words.
 *
 * @param up whether packets pass
 * @param why the reason, one sentence
 * @param remedy what to do; empty when nothing is to be done
 */
public record TunnelExplanation(boolean up, String why, String remedy) {
    /**
     * All known facts, from every source.
     *
     * @param name of the connection
     * @param charon why charon does not answer, or null when it answers
     * @param guard what is wrong with the guard, or null when it is in place
     * @param loaded whether charon has the connection
     * @param certificate our own, or null when charon has none of its name
     * @param sas of this connection
     * @param cause what the log reported about it while we listened, or null
     */
    public record Facts(
            String name,
            @Nullable String charon,
            @Nullable String guard,
            boolean loaded,
            @Nullable DerCertificate certificate,
            List<IkeSa> sas,
            @Nullable TunnelFailureCause cause,
            Instant now) {
        public Facts {
            sas = List.copyOf(sas);
        }
    }

    /** Returns the first reason that keeps the tunnel down by itself; later ones may follow from it. */
    public static TunnelExplanation of(Facts facts) {
        if (facts.charon != null) {
            return down("charon cannot be asked: " + facts.charon, "start charon-systemd; the guard keeps all in");
        }
        Optional<IkeSa> up = facts.sas.stream().filter(IkeSa::isUp).findFirst();
        if (up.isPresent()) {
            return facts.guard == null
                    ? new TunnelExplanation(true, "up", "")
                    : new TunnelExplanation(true, "up, but unguarded: " + facts.guard, "install the guard");
        }
        if (facts.guard != null) {
            return down("the guard is not in place: " + facts.guard, "install the guard, then the address");
        }
        if (!facts.loaded) {
            return down("charon has no connection " + facts.name, "have it in the plan; see the agent's log");
        }
        if (facts.certificate != null) {
            TunnelExplanation dates = dates(facts.certificate, facts.now);
            if (dates != null) {
                return dates;
            }
        }
        if (facts.cause != null) {
            return down(facts.cause.words(), facts.cause.remedy());
        }
        return of(facts.sas);
    }

    private static TunnelExplanation of(List<IkeSa> sas) {
        for (IkeSa sa : sas) {
            if (sa.state().equals("CONNECTING")) {
                return sa.answered()
                        ? down("the peer has answered and has not been authenticated yet", "wait a second")
                        : down(TunnelFailureCause.PEER_SILENT.words(), TunnelFailureCause.PEER_SILENT.remedy());
            }
            if (sa.state().equals("ESTABLISHED")) {
                return down(
                        "the peer is authenticated, and there is no tunnel with it: one end refused keys or addresses",
                        "read the log of charon at both ends for CHILD_SA");
            }
        }
        return down("nobody has started it", "send a packet if it is started by traffic, or see the peer's log");
    }

    private static @Nullable TunnelExplanation dates(DerCertificate certificate, Instant now) {
        if (now.isAfter(certificate.notAfter())) {
            return down(
                    "our certificate expired at " + certificate.notAfter() + ", "
                            + words(Duration.between(certificate.notAfter(), now)) + " ago",
                    "see that the clock is right, and have the controlling VM issue a new one");
        }
        if (now.isBefore(certificate.notBefore())) {
            return down(
                    "our certificate is not valid before " + certificate.notBefore() + ", in "
                            + words(Duration.between(now, certificate.notBefore())),
                    "set the clock right");
        }
        return null;
    }

    /** Returns the duration in the largest unit of which it has at least one. */
    public static String words(Duration time) {
        if (time.toDays() > 0) {
            return time.toDays() + " d";
        }
        if (time.toHours() > 0) {
            return time.toHours() + " h";
        }
        return time.toMinutes() > 0 ? time.toMinutes() + " min" : time.toSeconds() + " s";
    }

    private static TunnelExplanation down(String why, String remedy) {
        return new TunnelExplanation(false, why, remedy);
    }
}
