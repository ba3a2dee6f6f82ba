package org.cloister.vm.controller.unlock;

import java.time.Instant;
import java.util.Set;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.VmNetworkConfig;

/**
 * What an opener brought, as far as it could be verified without the drive.
 *
 * @param siteKeys of the site's authority, as the opener believes them
 * @param epoch of the drive from now on
 * @param driveKey sealed to this boot
 * @param create whether the drive is new
 * @param time by the opener's clock
 * @param files to be kept on the drive
 */
public record VerifiedUnlock(
        HandoverTarget place,
        ProjectDocuments documents,
        ControllerAuthority authority,
        Set<VerificationKey> siteKeys,
        long epoch,
        SealedSecret driveKey,
        boolean create,
        Instant time,
        VmNetworkConfig station,
        OpeningFiles files) {}
