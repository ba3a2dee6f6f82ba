package org.cloister.protocol.policy;

import java.time.Instant;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Image that the owners accept.
 *
 * @param identity as its manifest has it
 * @param until time from which an image that is being replaced is refused; empty for the current image
 */
public record AcceptedImage(Digest identity, Optional<Instant> until) {
    static AcceptedImage read(StrictJson json) throws MalformedException {
        AcceptedImage image = new AcceptedImage(
                json.digest("identity", Digest.Algorithm.SHA384),
                json.has("until") ? Optional.of(json.time("until")) : Optional.empty());
        json.requireNothingCritical();
        return image;
    }

    boolean isAccepted(Instant now) {
        return until.isEmpty() || now.isBefore(until.get());
    }
}
