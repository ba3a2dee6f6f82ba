package org.cloister.vm.controller.unlock;

import java.time.Instant;
import java.util.Set;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.VmNetworkConfig;

/**
 * The content of an unlock, verified as far as possible without the drive.
 *
 * @param siteKeys keys of the site's authority that the opener trusts
 * @param epoch of the drive from now on
 * @param driveKey sealed to this boot
 * @param create whether the drive is new
 * @param time by the opener's clock
 * @param files to be stored on the drive
 */
public record VerifiedUnlock(
        HandoverTarget target,
        ProjectDocuments documents,
        ControllerAuthority authority,
        Set<VerificationKey> siteKeys,
        long epoch,
        SealedSecret driveKey,
        boolean create,
        Instant time,
        VmNetworkConfig networkConfig,
        OpeningFiles files) {}
