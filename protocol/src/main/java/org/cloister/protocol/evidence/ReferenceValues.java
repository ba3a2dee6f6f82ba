package org.cloister.protocol.evidence;

import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.policy.VmRole;

/**
 * Reference values that the verifier knows without the statement: from the signed allocation, its own circuit and its
 * own records.
 *
 * @param host the key that the allocation names for the slot
 * @param hostRevoked by a revocation that was delivered
 * @param nonce sent to the circuit's other end
 * @param peer the key of the certificate that the other end proved in the circuit's handshake
 * @param binding of the same circuit, from the verifier's end
 * @param workerEncryption whether traffic between the project's workers is encrypted with IPsec
 * @param driveIntegrity whether changes of the project's drive are detected
 * @param alreadyUsed whether the records have the ticket's slot or the nonce
 * @param released number of hand-overs made under the policy's serial
 */
public record ReferenceValues(
        VmRole role,
        String ticket,
        long slot,
        VerificationKey host,
        boolean hostRevoked,
        Nonce nonce,
        VerificationKey peer,
        CircuitBinding binding,
        boolean workerEncryption,
        boolean driveIntegrity,
        boolean alreadyUsed,
        long released) {}
