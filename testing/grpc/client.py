# Calls a server with Python's gRPC client, by stubs that it generates from the published .proto, and prints what it
# got as JSON. The test beside it compares that.
import json
import sys
import tempfile
from pathlib import Path

import grpc
from google.protobuf.json_format import MessageToDict
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from grpc_tools import protoc

address, proto_folder = sys.argv[1:]
stubs = tempfile.mkdtemp()
file = "greendot/v1/presence.proto"
arguments = ["protoc", f"-I{proto_folder}", f"--python_out={stubs}", f"--grpc_python_out={stubs}", file]
assert protoc.main(arguments) == 0
sys.path.insert(0, stubs)

from greendot.v1 import presence_pb2 as pb  # noqa: E402
from greendot.v1 import presence_pb2_grpc as pb_grpc  # noqa: E402


def told(message):
    return MessageToDict(message, preserving_proto_field_name=True)


def of(token):
    return {"metadata": [("authorization", f"Bearer {token}")], "timeout": 20}


with grpc.insecure_channel(address) as channel:
    presence = pb_grpc.PresenceServiceStub(channel)
    subscription = presence.SubscribePresence(pb.SubscribePresenceRequest(user_ids=["alice"]), **of("dev:bob"))
    snapshot = told(next(subscription))
    beat = pb.RecordHeartbeatRequest(device_id="phone", platform="PLATFORM_MOBILE", activity="ACTIVITY_ACTIVE")
    presence.RecordHeartbeat(beat, **of("dev:alice"))
    change = told(next(subscription))
    subscription.cancel()

    requests = [pb.WatchRequest(ref=1, watch=pb.WatchUsers(user_ids=["alice"])), pb.WatchRequest(ref=2)]
    watched = [told(answer) for answer in presence.Watch(iter(requests), **of("dev:bob"))]

    named = pb.RecordHeartbeatRequest(user_id="carol", device_id="d", activity="ACTIVITY_IDLE")
    batches = [pb.RecordHeartbeatsRequest(heartbeats=[named, beat])]
    recorded = told(presence.RecordHeartbeats(iter(batches), **of("dev")))

    try:
        presence.GetPresence(pb.GetPresenceRequest(user_ids=["a b"]), **of("dev"))
        refusal = None
    except grpc.RpcError as error:
        info = error_details_pb2.ErrorInfo()
        rpc_status.from_call(error).details[0].Unpack(info)
        refusal = [error.code().name, info.reason, info.domain]

print(json.dumps([snapshot, change, watched, recorded, refusal]))
