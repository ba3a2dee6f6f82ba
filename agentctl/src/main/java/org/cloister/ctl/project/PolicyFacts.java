package org.cloister.ctl.project;

import java.time.Instant;
import java.util.Optional;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.ProjectPolicy;

/** Prints all that a policy says, for a person who checks it before they sign. */
final class PolicyFacts {
    private PolicyFacts() {}

    static KeyValueOutput of(ProjectPolicy policy) {
        KeyValueOutput facts = new KeyValueOutput()
                .with("project", policy.project())
                .with("serial", policy.serial())
                .with("from", policy.from())
                .with("until", policy.until())
                .with("level", policy.level());
        policy.hosts().forEach(host -> facts.with("host " + host.name(), host.key()));
        int former = 0;
        for (AcceptedImage image : policy.images()) {
            Optional<Instant> until = image.until();
            if (until.isEmpty()) {
                facts.with("image", image.identity());
            } else {
                former++;
                facts.with("former image " + former, image.identity() + " until " + until.get());
            }
        }
        facts.with("controlling VM", policy.controllerLimit())
                .with("worker VM", policy.workerLimit())
                .with("sharing", policy.sharing())
                .with("worker encryption", policy.workerEncryption() ? "required" : "optional")
                .with("releases", policy.releases());
        if (!policy.loosens().isEmpty()) {
            facts.with("loosens", policy.loosens().stream().sorted().toList());
        }
        return facts;
    }
}
