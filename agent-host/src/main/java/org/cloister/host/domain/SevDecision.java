package org.cloister.host.domain;

import java.util.Locale;

/** Whether a VM is started, and under which protection: the site's setting, what the host has, and what the owners demand. */
public sealed interface SevDecision {
    /** The site's setting. */
    enum Mode {
        OFF,
        /** Where the host has it; without it only VMs whose owners accept less. */
        PREFERRED,
        /** No VM without it, whatever its owners accept. */
        REQUIRED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Started as any VM; no launch security. */
    record Plain() implements SevDecision {}

    /** Started under it, and the receipt shows it. */
    record Protect(LaunchSecurity launchSecurity) implements SevDecision {}

    /**
     * Not started.
     *
     * @param reason with both values
     */
    record Refuse(String reason) implements SevDecision {}

    static SevDecision of(Mode mode, SevCapabilities host, MemoryProtection demand) {
        MemoryProtection got = mode == Mode.OFF ? MemoryProtection.NONE : host.best();
        if (got.compareTo(demand) < 0) {
            return new Refuse("launch security: the owners' policy demands " + demand + ", this host "
                    + (mode == Mode.OFF ? "has it switched off (launch-security = \"off\")" : "has " + host.best()));
        }
        if (got == MemoryProtection.NONE) {
            return mode == Mode.REQUIRED
                    ? new Refuse(
                            "launch security: launch-security = \"required\" wants sev or sev-snp, this host has none")
                    : new Plain();
        }
        return new Protect(new LaunchSecurity(got, got == MemoryProtection.SEV && host.encryptedState()));
    }
}
