"""A gRPC client based on Debian's grpcio, without a schema: it requests the schema from the server (reflection).

Only the messages of reflection itself are defined here, as descriptors. Everything else is what the server
reports.
"""
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TEXT, BYTES, I32, MESSAGE = 9, 12, 5, 11
ONE, MANY = 1, 3


def reflection_file(package):
    """Return grpc/reflection/…/reflection.proto, reduced to the parts used here."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")

    def message(name, *fields):
        made = file.message_type.add(name=name)
        for field, number, kind, label, type_name in fields:
            made.field.add(name=field, number=number, type=kind, label=label,
                           type_name=f".{package}.{type_name}" if type_name else None)

    message("ExtensionRequest", ("containing_type", 1, TEXT, ONE, ""), ("extension_number", 2, I32, ONE, ""))
    message("ServerReflectionRequest", ("host", 1, TEXT, ONE, ""), ("file_by_filename", 3, TEXT, ONE, ""),
            ("file_containing_symbol", 4, TEXT, ONE, ""),
            ("file_containing_extension", 5, MESSAGE, ONE, "ExtensionRequest"),
            ("all_extension_numbers_of_type", 6, TEXT, ONE, ""), ("list_services", 7, TEXT, ONE, ""))
    message("ExtensionNumberResponse", ("base_type_name", 1, TEXT, ONE, ""), ("extension_number", 2, I32, MANY, ""))
    message("FileDescriptorResponse", ("file_descriptor_proto", 1, BYTES, MANY, ""))
    message("ServiceResponse", ("name", 1, TEXT, ONE, ""))
    message("ListServiceResponse", ("service", 1, MESSAGE, MANY, "ServiceResponse"))
    message("ErrorResponse", ("error_code", 1, I32, ONE, ""), ("error_message", 2, TEXT, ONE, ""))
    message("ServerReflectionResponse", ("file_descriptor_response", 4, MESSAGE, ONE, "FileDescriptorResponse"),
            ("all_extension_numbers_response", 5, MESSAGE, ONE, "ExtensionNumberResponse"),
            ("list_services_response", 6, MESSAGE, ONE, "ListServiceResponse"),
            ("error_response", 7, MESSAGE, ONE, "ErrorResponse"))
    return file


def message_class(descriptor):
    """Return the message class of a descriptor. The name of the function depends on the version of protobuf."""
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(descriptor.file.pool).GetPrototype(descriptor)


class Reflection:
    def __init__(self, channel, version="v1"):
        package = f"grpc.reflection.{version}"
        pool = descriptor_pool.DescriptorPool()
        pool.Add(reflection_file(package))
        self.request = message_class(pool.FindMessageTypeByName(f"{package}.ServerReflectionRequest"))
        answer = message_class(pool.FindMessageTypeByName(f"{package}.ServerReflectionResponse"))
        self.call = channel.stream_stream(f"/{package}.ServerReflection/ServerReflectionInfo",
                                          self.request.SerializeToString, answer.FromString)

    def ask(self, *questions):
        """Send the requests in one stream. Return the responses."""
        return list(self.call((self.request(**question) for question in questions), timeout=30))

    def services(self):
        return [service.name for service in self.ask({"list_services": "*"})[0].list_services_response.service]

    def files(self, symbol):
        """Return the file that declares the symbol and the files that it imports, by name."""
        found, wanted = {}, [{"file_containing_symbol": symbol}]
        while wanted:
            answer = self.ask(wanted.pop())[0]
            for raw in answer.file_descriptor_response.file_descriptor_proto:
                file = descriptor_pb2.FileDescriptorProto.FromString(raw)
                found[file.name] = file
                wanted += [{"file_by_filename": name} for name in file.dependency if name not in found]
        return found


class Service:
    """The methods of a service as functions: service.Enqueue(queue="q", timeout=5)."""

    def __init__(self, channel, name, reflection=None):
        files = (reflection or Reflection(channel)).files(name)
        pool = descriptor_pool.DescriptorPool()
        for file in sorted(files.values(), key=lambda file: len(file.dependency)):
            pool.Add(file)
        self.pool = pool
        self.descriptor = pool.FindServiceByName(name)
        for method in self.descriptor.methods:
            made = next(m for f in files.values() for s in f.service for m in s.method if m.name == method.name)
            kind = {(False, False): channel.unary_unary, (False, True): channel.unary_stream,
                    (True, True): channel.stream_stream}[(made.client_streaming, made.server_streaming)]
            request = message_class(method.input_type)
            call = kind(f"/{name}/{method.name}", request.SerializeToString,
                        message_class(method.output_type).FromString)
            setattr(self, method.name, self.streaming(call) if made.client_streaming else self.single(call, request))
            setattr(self, method.name + "Request", request)

    @staticmethod
    def streaming(call):
        return call

    @staticmethod
    def single(call, request):
        def function(message=None, timeout=30, metadata=None, compression=None, wait_for_ready=None, **fields):
            return call(message or request(**fields), timeout=timeout, metadata=metadata, compression=compression,
                        wait_for_ready=wait_for_ready)
        return function


def channel(server, **options):
    return grpc.insecure_channel(f"127.0.0.1:{server.port}", options=list(options.items()))
