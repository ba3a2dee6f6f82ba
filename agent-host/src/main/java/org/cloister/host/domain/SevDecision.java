package org.cloister.host.domain;

import java.util.Locale;

/**
 * Decision whether a VM is started and under which protection, from the site's setting, the host's capabilities and the
 * owners' demand.
 */
public sealed interface SevDecision {
    /** Setting of the site. */
    enum Mode {
        OFF,
        /** Protected where the host supports it; elsewhere only VMs whose owners accept less are started. */
        PREFERRED,
        /** Protected always: no VM is started without it, whatever its owners accept. */
        REQUIRED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Start without launch security. */
    record Plain() implements SevDecision {}

    /** Start with launch security; the receipt shows it. */
    record Protect(LaunchSecurity launchSecurity) implements SevDecision {}

    /**
     * Refusal to start.
     *
     * @param reason with the demand and the host's value
     */
    record Refuse(String reason) implements SevDecision {}

    static SevDecision of(Mode mode, SevCapabilities host, MemoryProtection required) {
        MemoryProtection got = mode == Mode.OFF ? MemoryProtection.NONE : host.best();
        if (got.compareTo(required) < 0) {
            return new Refuse("launch security: the owners' policy demands " + required + ", this host "
                    + (mode == Mode.OFF ? "has it switched off (launch-security = \"off\")" : "has " + host.best()));
        }
        if (got == MemoryProtection.NONE) {
            return mode == Mode.REQUIRED
                    ? new Refuse("launch-security = \"required\" needs SEV or SEV-SNP, and this host has neither")
                    : new Plain();
        }
        return new Protect(new LaunchSecurity(got, got == MemoryProtection.SEV && host.encryptedState()));
    }
}
