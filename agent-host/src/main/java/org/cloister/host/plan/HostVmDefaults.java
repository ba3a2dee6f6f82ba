package org.cloister.host.plan;

import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.SevCapabilities;
import org.cloister.host.domain.SevDecision;
import org.cloister.protocol.ticket.MemoryReserves;

/**
 * Defaults that all VMs of this host share.
 *
 * @param mode of launch security, as the site set it
 * @param tpm whether each has a software TPM
 * @param debugConsole whether each has a serial console in a file; never set in production
 * @param mtu of each tap, in bytes
 */
public record HostVmDefaults(
        Accelerator accelerator,
        MemoryReserves reserves,
        MemoryBacking backing,
        SevDecision.Mode mode,
        SevCapabilities sev,
        boolean tpm,
        boolean debugConsole,
        int mtu) {}
